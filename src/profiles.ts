/** Tools by prompt, for browsers: what a profile tells a model, and what it finds in an answer. Nothing here needs a server. */
export type { ToolSpec } from "./core/event.ts";
export type { Found, Refusal } from "./model/profile/calls.ts";
export { GLM, Hermes, Pythonic, Qwen_XML } from "./model/profile/family-profiles.ts";
export { type Machine, profileMachine } from "./model/profile/machine.ts";
export { type Parsed, parse as parseProfile } from "./model/profile/parse.ts";
export { defineProfile, type Profile, type ProfileDefinition } from "./model/profile/profile.ts";
export { PROFILES, type ProfileName } from "./model/profile/profiles.ts";
export { readResults } from "./model/profile/results.ts";
export { JSON_Strict, XML_Tag } from "./model/profile/seed-profiles.ts";
export { ToolContextBuilder } from "./model/profile/tool-context-builder.ts";
