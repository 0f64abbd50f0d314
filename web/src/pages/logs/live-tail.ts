import { useEffect, useState } from 'react';
import type { LogEntryJson } from '../../../../src/control/api/contract/logs.ts';

const ROWS_MAX = 500;

export type TailState = 'off' | 'connecting' | 'live' | 'lost' | 'rejected';

export type Tail = Readonly<{
  state: TailState;
  rows: readonly LogEntryJson[];
  /** Received while paused; shown on resume. */
  waiting: number;
}>;

type TailRows = Readonly<{ visible: readonly LogEntryJson[]; waiting: readonly LogEntryJson[] }>;
const nothing: TailRows = { visible: [], waiting: [] };

export function useLiveTail(address: string | null, isPaused: boolean): Tail {
  const [state, setState] = useState<TailState>('off');
  const [held, setHeld] = useState<TailRows>(nothing);

  useEffect(() => {
    setHeld(nothing);
    setState(address === null ? 'off' : 'connecting');
    if (address === null) return;
    const source = new EventSource(address);
    source.onopen = () => setState('live');
    // EventSource reconnects by itself unless rejected.
    source.onerror = () => setState(source.readyState === EventSource.CLOSED ? 'rejected' : 'lost');
    source.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const entry = JSON.parse(data) as LogEntryJson;
      setHeld((before) => ({ ...before, waiting: [entry, ...before.waiting].slice(0, ROWS_MAX) }));
    });
    return () => source.close();
  }, [address]);

  useEffect(() => {
    if (isPaused || held.waiting.length === 0) return;
    setHeld(({ visible, waiting }) => ({
      visible: [...waiting, ...visible].slice(0, ROWS_MAX),
      waiting: [],
    }));
  }, [isPaused, held.waiting.length]);

  return { state, rows: held.visible, waiting: held.waiting.length };
}
