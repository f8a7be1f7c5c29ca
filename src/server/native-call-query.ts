import type { CallQuery } from "../protocol/native/query.ts";
import type { WaitQuery } from "../store/store.ts";
import type { Principal } from "./principal.ts";

/** What a principal may list of what it asks for: users their own, operators the app's, executors calls of their tools. */
export function callQuery(principal: Principal, { tool, user, ...asked }: CallQuery): WaitQuery {
  const { app } = principal;
  switch (principal.kind) {
    case "user":
      return { app, ...asked, user: principal.user, ...(tool && { names: tool }) };
    case "operator":
      return { app, ...asked, ...(user !== undefined && { user }), ...(tool && { names: tool }) };
    case "executor": {
      const names = tool ? tool.filter((name) => principal.tools.includes(name)) : principal.tools;
      // Questions have no tool: whoever asks for them gets none.
      return { app, ...asked, kind: "call", names: asked.kind === "interrupt" ? [] : names };
    }
    default:
      return principal satisfies never;
  }
}
