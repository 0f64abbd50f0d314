import { type Family, readMetrics } from '../../observing/metrics-text.ts';
import { outcomeOf } from '../outcomes.ts';
import { Refused, Tally } from '../tally.ts';
import { measuredLoad, openHttp, type Surface } from './surface.ts';

const counters = {
  solway_connections_lagged_total: 'connections were closed because of slow clients',
  solway_connections_refused_total: 'connections were refused',
  solway_dropped_total: 'items were dropped because of limits',
};

export function metricsSurface(url: string, token: string, perSecond: number): Surface {
  const tally = new Tally('Metrics', 'answers');
  const http = openHttp();
  let families: ReadonlyMap<string, Family> = new Map();
  const send = async (): Promise<void> => {
    const answer = await http.send(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 200) throw new Refused(`HTTP ${answer.status}`);
    // Throws for invalid text.
    families = readMetrics(answer.text);
  };
  const check = async () => {
    const faults = Object.entries(counters).flatMap(([name, what]) => {
      const count = (families.get(name)?.samples ?? []).reduce((sum, { value }) => sum + value, 0);
      return count === 0 ? [] : [`${count} ${what}`];
    });
    const found = `${faults.length} of these counters increased`;
    return [outcomeOf('The service closes, rejects and drops nothing', found, faults)];
  };
  return { tallies: [tally], load: measuredLoad(tally, perSecond, send, 1), check, close: http.close };
}
