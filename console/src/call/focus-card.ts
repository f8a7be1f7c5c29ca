/** Puts the focus on the card of a call or question that is in the page or will be in a moment: lists draw what they are scrolled to. */
export function focusCard(id: string, tries = 180): void {
  const card = document.getElementById(`call-${id}`) ?? document.getElementById(`interrupt-${id}`);
  if (card) {
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  } else if (tries > 0) requestAnimationFrame(() => focusCard(id, tries - 1));
}
