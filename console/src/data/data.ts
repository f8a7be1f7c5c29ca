import { type ConnectOptions, connect, type Handback, type Hub, type Meta, type Store } from "handback/client";
import { type ActionStates, actionStates } from "./action-states.ts";
import { type Actions, makeActions } from "./actions.ts";
import { type Files, openFiles } from "./files.ts";
import { type Outbox, openOutbox } from "./outbox.ts";
import { openRemovals, type Removals } from "./removals.ts";
import { type Replays, replays } from "./replays.ts";
import { value } from "./value.ts";

/** Everything the pages share: one connection, what is on its way out, and what can still be undone. */
export type Data = {
  handback: Handback;
  hub: Hub;
  actions: Actions;
  states: ActionStates;
  outbox: Outbox;
  removals: Removals;
  replays: Replays;
  files: Files;
  meta: Store<Meta | undefined>;
  close(): void;
};

export type DataOptions = ConnectOptions & {
  /** The key this tab speaks with: tabs with another one share nothing with it. */
  token?: string;
};

/** Opens the data of a page. Nothing is asked before somebody listens. */
export function createData({ token, ...options }: DataOptions): Data {
  const handback = connect(options);
  const scope = token === undefined ? "" : hash(token);
  let opened: Parts | undefined;
  const parts = () => {
    opened ??= open(handback, scope);
    return opened;
  };
  return {
    handback,
    get hub() {
      return parts().hub;
    },
    get actions() {
      return parts().actions;
    },
    get states() {
      return parts().states;
    },
    get outbox() {
      return parts().outbox;
    },
    get removals() {
      return parts().removals;
    },
    get replays() {
      return parts().replays;
    },
    get files() {
      return parts().files;
    },
    get meta() {
      return parts().meta;
    },
    close() {
      opened?.close();
      opened = undefined;
    },
  };
}

type Parts = Omit<Data, "handback">;

function open(handback: Handback, scope: string): Parts {
  const hub = handback.hub({ name: `handback${scope}` });
  const states = actionStates();
  const outbox = openOutbox(handback, hub, { storage: globalThis.sessionStorage, name: `handback.outbox${scope}` });
  const removals = openRemovals(handback, hub, { storage: globalThis.localStorage, name: `handback.removals${scope}` });
  const files = openFiles(globalThis.sessionStorage);
  const shown = replays(hub, files);
  const meta = value<Meta | undefined>(undefined);
  const load = () => void handback.meta().then(meta.set, () => {});
  load();
  let known = hub.connection.getSnapshot();
  const unlisten = hub.connection.subscribe(() => {
    const now = hub.connection.getSnapshot();
    // Another start may bring other agents.
    if (now.state === "live" && known.state !== "live" && (now.restarted || meta.getSnapshot() === undefined)) load();
    known = now;
  });
  return {
    hub,
    states,
    outbox,
    removals,
    replays: shown,
    files,
    meta,
    actions: makeActions({ handback, hub, states, outbox, removals, files }),
    close() {
      unlisten();
      outbox.close();
      removals.close();
      shown.close();
      hub.close();
    },
  };
}

/** Enough to keep two keys apart in the name of a channel, and nothing that tells the key. */
function hash(text: string): string {
  let sum = 0x811c9dc5;
  for (const char of text) sum = Math.imul(sum ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return `.${sum.toString(36)}`;
}
