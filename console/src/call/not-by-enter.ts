import type { KeyboardEvent } from "react";

/** Keys for a button that must not go off by a stray Enter: Space and Ctrl/⌘+Enter press it, Enter alone does not. */
export function notByEnter(press: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if ((event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing) press();
  };
}
