import { fakeUpstream } from "./upstream.ts";

/** The fake provider as a process of its own: prints its URL and serves until it is killed. `PORT` fixes its port. */
const { url } = await fakeUpstream(undefined, { keep: 0, port: Number(process.env["PORT"] ?? 0) });
console.log(url);
