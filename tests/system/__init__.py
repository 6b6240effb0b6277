"""The whole system: a real server, real shims, the hook poster as the plugin starts it, recorded payloads."""
