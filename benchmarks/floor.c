/* The least that a hook can cost: the same exchange as the poster's, in C. floor PORT TOKEN PATH < payload */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char body[1 << 20], head[4096], answer[1 << 20];

static size_t fill(int from, char *into, size_t room) {
    size_t held = 0;
    ssize_t part;
    while (held < room && (part = read(from, into + held, room - held)) > 0)
        held += (size_t)part;
    return held;
}

int main(int count, char **words) {
    if (count != 4)
        return 2;
    size_t length = fill(0, body, sizeof body);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[1]))};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int link = socket(AF_INET, SOCK_STREAM, 0);
    if (link < 0 || connect(link, (struct sockaddr *)&place, sizeof place) < 0)
        return 1;
    int size = snprintf(head, sizeof head,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nUser-Agent: kg-hook/1 (claude-code)\r\n"
                        "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                        words[3], words[1], words[2], length);
    if (write(link, head, (size_t)size) != size || write(link, body, length) != (ssize_t)length)
        return 1;
    size_t received = fill(link, answer, sizeof answer - 1);
    char *rest = strstr(answer, "\r\n\r\n");
    if (!rest || strncmp(answer + 9, "200", 3))
        return 1;
    rest += 4;
    size_t left = received - (size_t)(rest - answer);
    return left && write(1, rest, left) != (ssize_t)left;
}
