import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useImperativeHandle, useRef, useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { cx } from "./cx.ts";
import type { VirtualListProps } from "./virtual-list.tsx";

/** A long list of which only what is seen is in the page. Rows may have any height; it is measured. */
export default function VirtualListView<Item>({
  items,
  keyOf,
  estimate,
  render,
  label,
  role = "list",
  stick = false,
  overscan = 8,
  ref,
  className,
  before,
  after,
}: VirtualListProps<Item>) {
  const t = useT();
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const byHand = useRef(0);
  const [away, setAway] = useState(false);
  const [seen, setSeen] = useState(items.length);
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (typeof estimate === "number" ? estimate : estimate(items[index] as Item, index)),
    getItemKey: (index) => keyOf(items[index] as Item, index),
    overscan,
  });
  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);
  useImperativeHandle(
    ref,
    () => ({
      toIndex(index) {
        atEnd.current = false; // or the end would pull it back
        setAway(true);
        list.scrollToIndex(index, { align: "center" });
      },
      toEnd,
    }),
    [list, toEnd],
  );

  const size = list.getTotalSize();
  // Whatever makes the list longer or its place smaller, a reader who is at the end stays there.
  useEffect(() => {
    const [box, content] = [scroller.current, inner.current];
    if (!stick || !box || !content) return;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) toEnd();
    });
    observer.observe(box);
    observer.observe(content);
    return () => observer.disconnect();
  }, [stick, toEnd]);
  useEffect(() => {
    if (atEnd.current) setSeen(items.length);
  }, [items.length]);

  const touched = (ms: number) => () => {
    byHand.current = Math.max(byHand.current, performance.now() + ms);
  };
  const onScroll = () => {
    const box = scroller.current;
    if (!box) return;
    const near = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    // Rows that are measured and rows that are added move it too; only the reader leaves the end.
    if (near) atEnd.current = true;
    else if (performance.now() < byHand.current) atEnd.current = false;
    else if (stick && atEnd.current) toEnd();
    setAway(!atEnd.current);
    if (atEnd.current) setSeen(items.length);
  };
  const fresh = items.length - seen;
  return (
    <div className={cx("relative min-h-0 flex-1", className)}>
      <div
        ref={scroller}
        role="group"
        aria-label={label}
        tabIndex={0}
        onScroll={onScroll}
        onWheel={touched(500)}
        onTouchMove={touched(1_500)}
        onKeyDown={touched(500)}
        onPointerDown={touched(10_000)} // a scroll bar that is dragged says no more than this
        className="absolute inset-0 overflow-auto -outline-offset-2 [overflow-anchor:none]"
      >
        <div ref={inner}>
          {before}
          <div role={role} aria-live={role === "log" ? "off" : undefined} aria-label={label} style={{ height: size }} className="relative">
            {list.getVirtualItems().map(({ index, key, start }) => (
              <div
                key={key}
                data-index={index}
                ref={list.measureElement}
                role={role === "list" ? "listitem" : undefined}
                aria-setsize={role === "list" ? items.length : undefined}
                aria-posinset={role === "list" ? index + 1 : undefined}
                style={{ transform: `translateY(${start}px)` }}
                className="absolute inset-x-0 top-0"
              >
                {render(items[index] as Item, index)}
              </div>
            ))}
          </div>
          {after}
        </div>
      </div>
      {stick && away && (
        <button
          type="button"
          onClick={toEnd}
          className="absolute bottom-3 left-1/2 flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line bg-raised px-3 text-sm font-medium shadow-raised animate-rise hover:bg-hover"
        >
          <ArrowDown aria-hidden className="size-3.5" />
          {fresh > 0 ? t("ui.newBelow", { n: fresh }) : t("ui.toEnd")}
        </button>
      )}
    </div>
  );
}
