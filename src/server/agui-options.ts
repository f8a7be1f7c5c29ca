import type { RunOptions } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { AguiInput } from "../protocol/agui/decode.ts";
import type { Frame } from "../protocol/agui/encode.ts";
import type { GraphView } from "../protocol/agui/graph.ts";
import type { AfterTranslate, BeforeTranslate, Translator } from "./agui-translate.ts";

/** What an app may change about the AG-UI door. Everything has a default. */
export type AguiOptions = {
  /** Paths below the base path; `false` turns a route off. */
  routes: AguiRoutes;
  /** Whose threads a request is about, where nobody is authenticated. */
  resolveUser?: Resolver<string>;
  /** The app they belong to, where nobody is authenticated; a resolver's answer comes before the fixed name. */
  appName?: string;
  resolveApp?: Resolver<string>;
  /** How this turn differs from its agent's configuration; several are applied in order. */
  resolveOptions?: Resolver<RunOption | readonly RunOption[]>;
  /** What tools and nodes are told of the client's state: takes the place of other `values`, `{}` clears them. */
  resolveState?: Resolver<JsonObject>;
  /** Looks at every request first, and may put another in its place. */
  onInput?: Resolver<object>;
  /** Wraps or replaces the translation of the log; one is made for each stream. */
  translator?: Translator;
  /** Called in order for every event of the log; the first answer takes the event's place. */
  beforeTranslate?: readonly BeforeTranslate[];
  /** Called in order for every frame on its way out; the first answer takes its place. */
  afterTranslate?: readonly AfterTranslate[];
  /** Whether a client hears the results it sent itself. Default: only one that shows nothing else. */
  echoToolResults?: boolean;
  /** A stream stays open over waits that are not its client's to end. */
  hold?: boolean;
  /** The run ends when its requester hangs up. */
  cancelOnDisconnect?: boolean;
  /** Longest a run of this door may take, in milliseconds; 0 is for ever. */
  timeout?: number;
  /** What is told of graphs beside their steps. */
  graphs: GraphView;
  /** Whether `history` follows the run that goes on, and for how long at most, in milliseconds; 0 is for ever. */
  follow: boolean;
  followMs: number;
};

export type AguiRoutes = {
  basePath: string;
  run: string;
  cancel: string | false;
  history: string | false;
  capabilities: string | false;
  ws: string | false;
};

/** What a resolver may answer with nothing, or later. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing at all
export type Resolver<T> = (input: AguiInput) => T | undefined | void | Promise<T | undefined | void>;

/** One change to a turn. A model must be one the agent offers. */
export type RunOption = Pick<
  RunOptions,
  "model" | "profile" | "instructions" | "maxSteps" | "timeout" | "tools" | "values" | "attributes" | "metadata"
>;

export const AGUI_ROUTES: AguiRoutes = {
  basePath: "/agui",
  run: "/",
  cancel: "/cancel",
  history: "/history",
  capabilities: "/capabilities",
  ws: "/ws",
};

/** A route with its base path in front: `/agui/` and `/chat` make `/agui/chat`. */
export function pathOf({ basePath }: Pick<AguiRoutes, "basePath">, path: string): string {
  return `/${`${basePath}/${path}`.split("/").filter(Boolean).join("/")}`;
}

export type { AguiInput, Frame as AguiEvent };
