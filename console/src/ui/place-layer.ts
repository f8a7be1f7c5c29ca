export type Side = "top" | "right" | "bottom" | "left";

const GAP = 6;
const EDGE = 8;

/** Puts a layer beside what it belongs to; on the other side where there is no room, and never beyond the screen. */
export function placeLayer(layer: HTMLElement, anchor: DOMRect, side: Side, align: "start" | "center" | "end"): void {
  const { offsetWidth: width, offsetHeight: height } = layer;
  const room = {
    top: anchor.top - height - GAP,
    bottom: innerHeight - anchor.bottom - height - GAP,
    left: anchor.left - width - GAP,
    right: innerWidth - anchor.right - width - GAP,
  };
  const other = OPPOSITE[side];
  const chosen = room[side] < EDGE && room[other] > room[side] ? other : side;
  const upright = chosen === "top" || chosen === "bottom";
  const along = (from: number, length: number, size: number) =>
    align === "start" ? from : align === "end" ? from + length - size : from + (length - size) / 2;
  const x = upright ? along(anchor.left, anchor.width, width) : chosen === "left" ? anchor.left - width - GAP : anchor.right + GAP;
  const y = upright ? (chosen === "top" ? anchor.top - height - GAP : anchor.bottom + GAP) : along(anchor.top, anchor.height, height);
  layer.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - width - EDGE))}px`;
  layer.style.top = `${Math.max(EDGE, Math.min(y, innerHeight - height - EDGE))}px`;
}

const OPPOSITE: Record<Side, Side> = { top: "bottom", bottom: "top", left: "right", right: "left" };
