import { type ComponentType, lazy, type ReactNode, type Ref, Suspense } from "react";

export type VirtualListHandle = { toIndex(index: number): void; toEnd(): void };

export type VirtualListProps<Item> = {
  items: readonly Item[];
  keyOf: (item: Item, index: number) => string | number;
  /** Height of a row before it is measured, in pixels. */
  estimate: number | ((item: Item, index: number) => number);
  render: (item: Item, index: number) => ReactNode;
  label: string;
  /** `log` for what grows at its end, `list` for everything else. */
  role?: "list" | "log";
  /** Stays at the end while the reader is there; otherwise offers the way down. */
  stick?: boolean;
  overscan?: number;
  ref?: Ref<VirtualListHandle>;
  className?: string;
  before?: ReactNode;
  after?: ReactNode;
};

const View = lazy(() => import("./virtual-list-view.tsx")) as unknown as ComponentType<VirtualListProps<unknown>>;

/** A long list of which only what is seen is in the page. Rows may have any height; it is measured. Its code comes with the first list. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  return (
    <Suspense fallback={<div className="min-h-0 flex-1" />}>
      <View {...(props as VirtualListProps<unknown>)} />
    </Suspense>
  );
}
