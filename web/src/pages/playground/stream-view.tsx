import { formatNumberOf, formatTime } from '../../format.ts';
import { Chip } from '../../ui/chip.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import type { StreamSnapshot, StreamState } from './live-stream.ts';
import { pretty } from './response-view.tsx';

const states: Readonly<Record<Exclude<StreamState, 'idle'>, string>> = {
  opening: 'Connecting',
  open: 'Subscribed',
  closed: 'Unsubscribed',
};

export function StreamView({ snapshot, name }: { snapshot: StreamSnapshot; name: string }) {
  const { state, note, isFault, received, messages } = snapshot;
  if (state === 'idle') return <p className="muted">Subscribe to see messages as they arrive.</p>;
  const shown = messages.length < received ? `, newest ${messages.length} shown` : '';
  return (
    <div className="stack">
      <p className="row" role="status">
        <Chip tone={isFault ? 'bad' : state === 'open' ? 'good' : 'neutral'}>{states[state]}</Chip>
        <strong>{name}</strong>
        <span>{note}</span>
      </p>
      <p className="muted">
        {formatNumberOf(received, 'message')}
        {shown}
      </p>
      <ol className="messages" aria-label="Messages">
        {messages.map(({ number, at, text }) => (
          <li key={number}>
            <details open={number === received}>
              <summary>
                <span className="mono">#{number}</span> <time>{formatTime(at)}</time>
              </summary>
              <Snippet text={pretty(text)} label={`message ${number}`} />
            </details>
          </li>
        ))}
      </ol>
    </div>
  );
}
