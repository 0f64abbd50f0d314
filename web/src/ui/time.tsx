import { useEffect, useState } from 'react';
import { formatAgo, formatLocal, formatTime, isoTime } from '../format.ts';

export const Time = ({ at, withMs = false }: { at: number; withMs?: boolean }) => (
  <time dateTime={isoTime(at)} title={`${formatLocal(at)} (local time)`} className="time">
    {formatTime(at, withMs)}
  </time>
);

const DAY_MS = 86_400_000;

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
