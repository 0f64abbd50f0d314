import { useEffect, useState } from 'react';
import { formatAgo, formatLocal, formatTime, isoTime } from '../format.ts';

/** A moment in UTC, with the reader's own clock on hover. */
export const Time = ({ at, withMs = false }: { at: number; withMs?: boolean }) => (
  <time dateTime={isoTime(at)} title={`${formatLocal(at)} (local time)`} className="time">
    {formatTime(at, withMs)}
  </time>
);

const DAY_MS = 86_400_000;

/** A moment to the millisecond for long lists: of this day by its time alone. The whole of it is on hover. */
export const ShortTime = ({ at }: { at: number }) => {
  const isToday = Math.floor(at / DAY_MS) === Math.floor(Date.now() / DAY_MS);
  return (
    <time
      dateTime={isoTime(at)}
      title={`${formatTime(at, true)} UTC · ${formatLocal(at)} (local time)`}
      className="time"
    >
      {formatTime(at, true).slice(isToday ? 11 : 5)}
    </time>
  );
};

/** How long ago a moment was, in words that move on; the moment itself is on hover. */
export function Ago({ at }: { at: number }) {
  const now = useNow();
  return (
    <time
      dateTime={isoTime(at)}
      title={`${formatTime(at)} UTC · ${formatLocal(at)} (local time)`}
      className="time"
    >
      {formatAgo(at, now)}
    </time>
  );
}

/** The clock, once a second while the page is in sight. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
