import { type ReactElement, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { Keys } from "./keys.tsx";
import { placeLayer, type Side } from "./place-layer.ts";

const [OPEN_MS, CLOSE_MS] = [350, 120];

/** A few words about a control, and its key. Opens by pointer and by keyboard, closes with Esc; never the only place where something is said. */
export function Tooltip({ text, hint, side = "bottom", children }: { text: string; hint?: string; side?: Side; children: ReactElement }) {
  const id = useId();
  const [anchor, setAnchor] = useState<Element>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const soon = (element: Element | undefined, ms: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setAnchor(element), ms);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const [open, close] = [(element: Element | null, ms: number) => soon(element ?? undefined, ms), () => soon(undefined, CLOSE_MS)];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens to what happens to the control inside
    <span
      className="contents"
      onMouseOver={(event) => open(event.currentTarget.firstElementChild, OPEN_MS)}
      onMouseOut={close}
      onFocus={(event) => event.target.matches(":focus-visible") && open(event.currentTarget.firstElementChild, 0)}
      onBlur={() => soon(undefined, 0)}
      onPointerDown={() => soon(undefined, 0)}
      onKeyDown={(event) => event.key === "Escape" && soon(undefined, 0)}
    >
      {children}
      {anchor && <Bubble id={id} anchor={anchor} text={text} side={side} {...(hint && { hint })} />}
    </span>
  );
}

/** In the browser's top layer, so that it shows above dialogs too. */
function Bubble({ id, anchor, text, hint, side }: { id: string; anchor: Element; text: string; hint?: string; side: Side }) {
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const bubble = ref.current;
    if (!bubble) return;
    bubble.showPopover();
    placeLayer(bubble, anchor.getBoundingClientRect(), side, "center");
    if (anchor.getAttribute("aria-label") === text) return;
    anchor.setAttribute("aria-describedby", id);
    return () => anchor.removeAttribute("aria-describedby");
  }, [anchor, id, side, text]);
  return (
    <span
      ref={ref}
      id={id}
      role="tooltip"
      popover="manual"
      className="fixed m-0 max-w-72 rounded-md border border-line bg-raised px-2.5 py-1.5 text-sm font-normal text-fg shadow-raised animate-in"
    >
      <span className="flex items-center gap-2">
        {text}
        {hint && <Keys keys={hint} />}
      </span>
    </span>
  );
}
