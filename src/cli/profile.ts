import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { AppError } from "../core/error.ts";
import type { ToolSpec } from "../core/event.ts";
import { type Parsed, parse } from "../model/profile/parse.ts";
import type { Profile } from "../model/profile/profile.ts";
import { profileNamed } from "../model/profile/profiles.ts";
import { ToolContextBuilder } from "../model/profile/tool-context-builder.ts";
import { loadConfig } from "./config.ts";
import type { Settings } from "./flags.ts";

/** Shows what a profile tells a model about the configured tools, what it finds in an answer, and what it refuses and why. */
export async function tryProfile(settings: Settings): Promise<string> {
  const { name, file, cut } = settings.profile;
  const profile = profileNamed(name);
  const path = resolve(file);
  if (!existsSync(path)) throw new AppError("invalid", `There is no file ${path}`);
  const { config } = await loadConfig(settings);
  const tools = Object.values(config.agents).flatMap((agent) => [...agent.tools.values()].map(({ spec }) => spec));
  return report(profile, tools, parse(profile, readFileSync(path, "utf8"), { tools, cut }));
}

function report(profile: Profile, tools: ToolSpec[], { text, reasoning, calls, refused }: Parsed): string {
  const called = calls.map(
    ({ id, name, input, refusal }) => `${id} ${name} ${JSON.stringify(input)}${refusal ? ` (${refusal.code})` : ""}`,
  );
  const sections: [string, string][] = [
    ["What the model is told", new ToolContextBuilder(profile).prompt(tools)],
    ["Where it is stopped", profile.stop.map((stop) => JSON.stringify(stop)).join("\n")],
    ["Text", text],
    ["Thoughts", reasoning],
    ["Calls", called.join("\n")],
    ["Refused", refused.map(({ code, message, source }) => `${code}: ${message}\n${source}`).join("\n")],
  ];
  return sections.map(([title, body]) => `── ${title}\n${body.trim() === "" ? "none" : body.trim()}\n`).join("\n");
}
