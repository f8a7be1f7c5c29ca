/** Cuts markdown at blank lines into pieces that mean the same on their own: fences and lists stay whole. */
export function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let current: string[] = [];
  let fence: string | undefined;
  let blank = false;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const starts = blank && fence === undefined && current.length > 0 && !/^(\s|[-*+] |\d+[.)] )/.test(line) && line !== "";
    if (starts) {
      blocks.push(current.join("\n"));
      current = [];
    }
    if (fence === undefined && mark) fence = mark;
    else if (fence !== undefined && mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    blank = line.trim() === "" && fence === undefined;
    current.push(line);
  }
  if (current.some((line) => line !== "")) blocks.push(current.join("\n"));
  return blocks;
}
