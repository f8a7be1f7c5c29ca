import type { StoredEvent } from "handback/client";
import { Search } from "lucide-react";
import { memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useParam } from "../app/use-param.ts";
import { useT } from "../i18n/i18n.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { cx } from "../ui/cx.ts";
import { TextInput } from "../ui/field.tsx";
import { EmptyState } from "../ui/skeleton.tsx";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";
import type { PanelProps } from "./panels.tsx";

/** The log itself, event by event, as it is stored. */
export default function EventsPanel({ view }: PanelProps) {
  const t = useT();
  const [filter = "", setFilter] = useParam("filter");
  const [open, setOpen] = useParam("event");
  const [list, setList] = useState<VirtualListHandle | null>(null);
  const events = useMemo(() => filtered(view.events.toArray(), filter), [view.events, filter]);
  const shown = useRef<string>(undefined);
  // Once for each event that is asked for, as soon as it is there.
  useEffect(() => {
    if (!list || shown.current === open) return;
    const index = open === undefined ? -1 : events.findIndex(({ seq }) => String(seq) === open);
    if (open !== undefined && index < 0) return;
    shown.current = open;
    if (index >= 0) list.toIndex(index);
  }, [list, open, events]);
  const latest = useRef({ open, setOpen });
  latest.current = { open, setOpen };
  const toggle = useCallback((seq: number) => {
    const { open: before, setOpen: put } = latest.current;
    const next = String(seq) === before ? undefined : String(seq);
    shown.current = next; // where somebody has clicked it is in sight
    put(next);
  }, []);
  return (
    <>
      <div className="relative shrink-0 border-b border-line p-2">
        <Search aria-hidden className="pointer-events-none absolute top-4.5 left-4.5 size-4 text-muted" />
        <TextInput
          type="search"
          className="pl-8"
          aria-label={t("dock.filter")}
          placeholder={t("dock.filter")}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      {events.length === 0 ? (
        <EmptyState title={t(filter === "" ? "dock.noEvents" : "dock.nothingFits")} />
      ) : (
        <VirtualList
          ref={setList}
          stick={open === undefined}
          label={t("dock.events")}
          items={events}
          keyOf={({ seq }) => seq}
          estimate={28}
          overscan={6}
          render={(event) => <Row event={event} open={String(event.seq) === open} onToggle={toggle} />}
        />
      )}
    </>
  );
}

const Row = memo(function Row({ event, open, onToggle }: { event: StoredEvent; open: boolean; onToggle: (seq: number) => void }) {
  const { seq, at, v, type, ...rest } = event;
  return (
    <div className={cx("border-b border-line", open && "bg-sunken")} data-testid="event-row">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => onToggle(seq)}
        className="flex h-7 w-full items-center gap-2 px-3 text-left font-mono text-xs -outline-offset-2 hover:bg-hover"
      >
        <span className="w-10 shrink-0 text-right text-muted tabular-nums">{seq}</span>
        <span className={cx("shrink-0 font-medium", colourOf(type))}>{type}</span>
        <span className="min-w-0 truncate text-muted">{briefly(rest)}</span>
      </button>
      {open && (
        <div className="relative px-3 pb-3">
          <pre
            tabIndex={0}
            className="max-h-96 overflow-auto rounded-lg border border-line bg-surface p-3 pr-10 font-mono text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            {JSON.stringify(event, null, 2)}
          </pre>
          <div className="absolute top-1.5 right-4.5">
            <CopyButton text={() => JSON.stringify(event, null, 2)} />
          </div>
        </div>
      )}
    </div>
  );
});

const COLOURS: [RegExp, string][] = [
  [/^run\./, "text-link"],
  [/^(tool|call)\./, "text-wait"],
  [/^interrupt\./, "text-claim"],
  [/^(text|reasoning|part)\./, "text-good"],
];

function colourOf(type: string): string {
  return COLOURS.find(([pattern]) => pattern.test(type))?.[1] ?? "text-fg";
}

/** Enough of an event to tell it from the others, without writing out what may be megabytes. */
function briefly(rest: Record<string, unknown>): string {
  const words: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(rest)) {
    const text =
      typeof value === "string"
        ? value.slice(0, 80)
        : typeof value === "object" && value !== null
          ? Array.isArray(value)
            ? "[…]"
            : "{…}"
          : String(value);
    words.push(`${name}: ${text}`);
    length += text.length + name.length;
    if (length > 120) break;
  }
  return words.join(", ");
}

/** A filter of several words must fit in all of them. `tool.` is a kind of event; `TOOL_CALL` means what AG-UI means by it. */
function filtered(events: readonly StoredEvent[], filter: string): readonly StoredEvent[] {
  const words = filter.toLowerCase().replaceAll("tool_call", "tool.").split(/\s+/).filter(Boolean);
  if (words.length === 0) return events;
  const fits = (event: StoredEvent, word: string) =>
    event.type.includes(word) || (!/^[a-z]+\.[a-z]*$/.test(word) && JSON.stringify(event).toLowerCase().includes(word));
  return events.filter((event) => words.every((word) => fits(event, word)));
}
