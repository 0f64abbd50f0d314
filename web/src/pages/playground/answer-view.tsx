import { type DoorAnswer, refusalOf } from '../../door-call.ts';
import { formatBytes, formatMs } from '../../format.ts';
import { Chip } from '../../ui/chip.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Snippet } from '../../ui/snippet.tsx';

/** Longer answers are shown by their start; who wants them whole has curl. */
const SHOWN_MAX = 100_000;

/** Laid out to be read, unless numbers would lose digits by it. */
function pretty(text: string): string {
  const start = text.slice(0, SHOWN_MAX);
  if (text.length > SHOWN_MAX || /\d{16}/.test(text)) return start;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return start;
  }
}

/** What came back: how it ended, how long it took, what it cost, what is left, and the bytes. */
export function AnswerView({
  name,
  answer,
  credits,
}: {
  name: string;
  answer: DoorAnswer;
  credits: number | null;
}) {
  const refusal = refusalOf(answer);
  return (
    <div className="stack">
      <p className="row" role="status">
        <Chip tone={refusal === null ? 'good' : 'bad'}>
          {answer.status === 0 ? 'no answer' : answer.status}
        </Chip>
        <strong>{name}</strong>
        <span>{refusal ?? 'gave a result'}</span>
      </p>
      <Facts
        facts={[
          ['Time', `${formatMs(answer.ms)} to this browser`],
          ['Size', formatBytes(answer.bytes)],
          ...(credits === null ? [] : [['Credits', `${credits} where it counts`] as const]),
          ...answer.limits.map(([header, value]) => [header, <code key={header}>{value}</code>] as const),
        ]}
      />
      <Snippet text={pretty(answer.text)} label="the answer" />
      {answer.text.length > SHOWN_MAX ? <p className="muted">Only the start is shown.</p> : null}
    </div>
  );
}
