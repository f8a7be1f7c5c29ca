/** `npm start -- --config examples/use-chat.config.ts` serves the agent; this page sends `/api` and `/v1` there. */
const target = "http://127.0.0.1:4242";

export default { server: { proxy: { "/api": target, "/v1": target } } };
