/** `npm start -- --config examples/copilotkit.config.ts` serves the agent; this page sends `/copilotkit` there. */
export default { server: { proxy: { "/copilotkit": "http://127.0.0.1:4242" } } };
