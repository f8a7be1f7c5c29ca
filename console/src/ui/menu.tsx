import { cloneElement, type KeyboardEvent, type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { cx } from "./cx.ts";
import { Keys } from "./keys.tsx";
import { placeLayer } from "./place-layer.ts";

export type MenuItem =
  | "line"
  | { label: string; icon?: ReactNode; hint?: string; danger?: boolean; disabled?: boolean; onSelect: () => void };

type TriggerProps = { id?: string; onClick?: () => void; "aria-haspopup"?: "menu"; "aria-expanded"?: boolean };

/** Things to do with what its button (the only child) belongs to. Arrows move, a letter jumps, Esc and a click beside it close. */
export function Menu({ items, children, align = "end" }: { items: MenuItem[]; children: ReactElement; align?: "start" | "end" }) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const closedAt = useRef(0);
  const trigger = cloneElement(children as ReactElement<TriggerProps>, {
    id,
    "aria-haspopup": "menu",
    "aria-expanded": open,
    // The click that closes it, by being beside it, must not open it again.
    onClick: () => setOpen(!open && performance.now() - closedAt.current > 200),
  });
  const close = () => {
    closedAt.current = performance.now();
    setOpen(false);
  };
  return (
    <>
      {trigger}
      {open && <MenuLayer items={items} anchorId={id} align={align} onClose={close} />}
    </>
  );
}

function MenuLayer({
  items,
  anchorId,
  align,
  onClose,
}: {
  items: MenuItem[];
  anchorId: string;
  align: "start" | "end";
  onClose: () => void;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const rows = () => [...(ref.current?.querySelectorAll<HTMLElement>('[role="menuitem"]:not(:disabled)') ?? [])];

  useEffect(() => {
    const [menu, anchor] = [ref.current, document.getElementById(anchorId)];
    if (!menu || !anchor) return;
    menu.showPopover();
    placeLayer(menu, anchor.getBoundingClientRect(), "bottom", align);
    menu.querySelector<HTMLElement>('[role="menuitem"]:not(:disabled)')?.focus();
    // What was chosen may have taken the focus to where it belongs now.
    return () => {
      const { activeElement } = document;
      if (!activeElement || activeElement === document.body || menu.contains(activeElement)) anchor.focus();
    };
  }, [anchorId, align]);

  const press = (event: KeyboardEvent) => {
    const all = rows();
    const here = all.indexOf(document.activeElement as HTMLElement);
    const target = {
      ArrowDown: all[(here + 1) % all.length],
      ArrowUp: all.at(here - 1),
      Home: all[0],
      End: all.at(-1),
    }[event.key];
    const named = event.key.length === 1 ? [...all.slice(here + 1), ...all].find((row) => startsWith(row, event.key)) : undefined;
    if (event.key === "Tab") onClose();
    if (!(target ?? named)) return;
    event.preventDefault();
    (target ?? named)?.focus();
  };

  return (
    <div
      ref={ref}
      role="menu"
      tabIndex={-1}
      aria-labelledby={anchorId}
      popover="auto"
      onToggle={(event) => event.newState === "closed" && onClose()}
      onKeyDown={press}
      className="fixed m-0 min-w-44 rounded-xl border border-line bg-raised p-1 text-fg shadow-raised animate-in"
    >
      {items.map((item, index) =>
        item === "line" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else to be told by
          <hr key={index} className="mx-1 my-1 border-line" />
        ) : (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            disabled={item.disabled}
            onClick={() => {
              onClose();
              item.onSelect();
            }}
            className={cx(
              "flex h-8 w-full items-center gap-2.5 rounded-lg px-2.5 text-left text-sm outline-none focus:bg-hover enabled:hover:bg-hover disabled:opacity-50",
              item.danger ? "text-bad" : "text-fg",
            )}
          >
            {item.icon && <span className="text-muted [&>svg]:size-4">{item.icon}</span>}
            <span className="flex-1">{item.label}</span>
            {item.hint && <Keys keys={item.hint} />}
          </button>
        ),
      )}
    </div>
  );
}

function startsWith(row: HTMLElement, letter: string): boolean {
  return row.textContent?.toLowerCase().startsWith(letter.toLowerCase()) ?? false;
}
