import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatMs } from '../../format.ts';

type Step = RouteOutput<'GET /customers/{customer}/logs/{entry}'>['steps'][number];

const WIDTH = 1000;
const BAR_MIN = 6;

const titles: Readonly<Record<string, string>> = {
  authenticate: 'Authenticate',
  limit: 'Limits',
  queue: 'Queue',
  cache: 'Cache',
  shared: 'Coalescing',
  heads: 'Slot cache',
  store: 'Shared cache',
  upstream: 'Upstream',
};

const toneOf = ({ name, outcome }: Step): string => {
  if (outcome === 'ok' || outcome === 'answered') return name === 'upstream' ? 'good' : 'plain';
  return outcome.startsWith('JSON-RPC') ? 'warn' : 'bad';
};

export function Waterfall({ steps, totalMs }: { steps: readonly Step[]; totalMs: number }) {
  if (steps.length === 0)
    return (
      <p className="muted">No timeline: this request was not sampled. It was logged because it was slow.</p>
    );
  const end = Math.max(totalMs, ...steps.map(({ endMs }) => endMs), 0.001);
  return (
    <table className="waterfall">
      <caption className="visually-hidden">Request timeline</caption>
      <thead className="visually-hidden">
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Start</th>
          <th scope="col">Duration</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is stable
          <tr key={index}>
            <th scope="row">
              {titles[step.name] ?? step.name}
              {step.node === null ? null : <span className="waterfall-node">{step.node}</span>}
            </th>
            <td className="waterfall-bar">
              <span className="visually-hidden">{formatMs(step.startMs)}</span>
              <Bar step={step} end={end} />
            </td>
            <td className="end">{formatMs(step.endMs - step.startMs)}</td>
            <td className={`waterfall-outcome waterfall-${toneOf(step)}-text`}>{step.outcome}</td>
          </tr>
        ))}
        <tr className="waterfall-total">
          <th scope="row">Total</th>
          <td>
            <span className="visually-hidden">{formatMs(0)}</span>
          </td>
          <td className="end">{formatMs(totalMs)}</td>
          <td />
        </tr>
      </tbody>
    </table>
  );
}

function Bar({ step, end }: { step: Step; end: number }) {
  const width = Math.max(BAR_MIN, ((step.endMs - step.startMs) / end) * WIDTH);
  const left = Math.min(WIDTH - width, (step.startMs / end) * WIDTH);
  return (
    <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect className="waterfall-track" width={WIDTH} height="10" />
      <rect className={`waterfall-${toneOf(step)}`} x={left} width={width} height="10" />
    </svg>
  );
}
