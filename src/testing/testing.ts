/** For your own tests: a model that follows a script, time that you move, and a fake provider on loopback. */

export {
  calls,
  fails,
  finishes,
  hangs,
  paced,
  type Rule,
  type ScriptedModel,
  type ScriptedTurn,
  says,
  scripted,
  scriptedBy,
  thinks,
} from "../model/scripted.ts";
export { memoryStore } from "../store/memory.ts";
export { fakeClock } from "./fake-clock.ts";
export { type ChatBody, type ChatMessage, fakeUpstream, type Script, type Turn, type Upstream } from "./upstream.ts";
