import { formatBytes, formatMs } from '../../format.ts';
import { type GatewayResponse, rejectionOf } from '../../gateway-call.ts';
import { Chip } from '../../ui/chip.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Snippet } from '../../ui/snippet.tsx';

const DISPLAY_MAX = 100_000;

/** Formats JSON unless numbers would lose precision. */
export function pretty(text: string): string {
  const start = text.slice(0, DISPLAY_MAX);
  if (text.length > DISPLAY_MAX || /\d{16}/.test(text)) return start;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return start;
  }
}

export function ResponseView({
  name,
  response,
  credits,
}: {
  name: string;
  response: GatewayResponse;
  credits: number | null;
}) {
  const rejection = rejectionOf(response);
  return (
    <div className="stack">
      <p className="row" role="status">
        <Chip tone={rejection === null ? 'good' : 'bad'}>
          {response.status === 0 ? 'No response' : response.status}
        </Chip>
        <strong>{name}</strong>
        <span>{rejection ?? 'Success'}</span>
      </p>
      <Facts
        facts={[
          ['Latency', `${formatMs(response.ms)} measured in this browser`],
          ['Size', formatBytes(response.bytes)],
          ...(credits === null
            ? []
            : [['List price', `${credits} ${credits === 1 ? 'credit' : 'credits'}`] as const]),
          ...response.limits.map(([header, value]) => [header, <code key={header}>{value}</code>] as const),
        ]}
      />
      <Snippet text={pretty(response.text)} label="response" />
      {response.text.length > DISPLAY_MAX ? <p className="muted">Response truncated.</p> : null}
    </div>
  );
}
