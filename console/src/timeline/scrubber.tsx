import { Pause, Play, Radio, StepBack, StepForward } from "lucide-react";
import { useState } from "react";
import { useReplay } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Select } from "../ui/field.tsx";

const SPEEDS = [0.5, 1, 2, 4, 8];

/** Back and forth in a thread's log. Whatever shows the thread follows; End goes back to now. */
export function Scrubber({ threadId }: { threadId: string }) {
  const t = useT();
  const replay = useReplay(threadId);
  const [speed, setSpeed] = useState(1);
  const { live, last, playing, seek, play, pause } = replay;
  const seq = live ? last : (replay.seq ?? last);
  const first = Math.min(1, last);
  const move = (to: number) => seek(to >= last ? "live" : Math.max(first, to));
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5" data-testid="scrubber">
      <IconButton
        size="sm"
        label={t("runs.stepBack")}
        icon={<StepBack className="size-4" />}
        disabled={seq <= first}
        onClick={() => move(seq - 1)}
      />
      <IconButton
        size="sm"
        label={t(playing ? "runs.pause" : "runs.play")}
        icon={playing ? <Pause className="size-4" /> : <Play className="size-4" />}
        onClick={() => {
          if (playing) return pause();
          if (live) seek(first);
          play(speed);
        }}
      />
      <IconButton
        size="sm"
        label={t("runs.stepForward")}
        icon={<StepForward className="size-4" />}
        disabled={live}
        onClick={() => move(seq + 1)}
      />
      <input
        type="range"
        aria-label={t("runs.scrubber")}
        aria-valuetext={t("runs.eventOf", { n: seq, all: last })}
        min={first}
        max={last}
        value={seq}
        onChange={(event) => move(Number(event.target.value))}
        onKeyDown={(event) => {
          if (event.key !== "End") return;
          event.preventDefault();
          seek("live");
        }}
        className="h-6 min-w-24 flex-1 accent-(--accent)"
      />
      <span className="text-xs text-muted tabular-nums">{t("runs.eventOf", { n: seq, all: last })}</span>
      <Select
        aria-label={t("runs.speed")}
        className="h-7! w-auto! py-0! pr-7! pl-2! text-sm"
        value={speed}
        onChange={(event) => {
          setSpeed(Number(event.target.value));
          if (playing) play(Number(event.target.value));
        }}
      >
        {SPEEDS.map((each) => (
          <option key={each} value={each}>
            {each}×
          </option>
        ))}
      </Select>
      <Button
        size="sm"
        kind={live ? "ghost" : "primary"}
        disabled={live}
        icon={<Radio aria-hidden className="size-3.5" />}
        onClick={() => seek("live")}
      >
        {t("shell.live")}
      </Button>
    </div>
  );
}
