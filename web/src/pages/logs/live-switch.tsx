import { Button } from '../../ui/button.tsx';
import { Chip, type Tone } from '../../ui/chip.tsx';
import type { Tail, TailState } from './live-tail.ts';

const stateLabels: Readonly<Record<Exclude<TailState, 'off'>, readonly [text: string, tone: Tone]>> = {
  connecting: ['Connecting', 'neutral'],
  live: ['Live', 'good'],
  lost: ['Connection lost; reconnecting', 'warn'],
  rejected: ['Too many live tails; close one and retry', 'bad'],
};

export function LiveSwitch({
  tail,
  isLive,
  isPaused,
  onLive,
  onPause,
}: {
  tail: Tail;
  isLive: boolean;
  isPaused: boolean;
  onLive: (isLive: boolean) => void;
  onPause: (isPaused: boolean) => void;
}) {
  if (!isLive)
    return (
      <Button icon="play" size="s" onClick={() => onLive(true)}>
        Live tail
      </Button>
    );
  const [text, tone] = tail.state === 'off' ? (['Live', 'good'] as const) : stateLabels[tail.state];
  return (
    <div className="row" role="status">
      <Chip tone={isPaused ? 'warn' : tone}>{isPaused ? `Paused, ${tail.waiting} new` : text}</Chip>
      <Button icon={isPaused ? 'play' : 'pause'} size="s" onClick={() => onPause(!isPaused)}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button size="s" kind="quiet" onClick={() => onLive(false)}>
        Stop
      </Button>
    </div>
  );
}
