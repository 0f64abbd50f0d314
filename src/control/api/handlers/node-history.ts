import { fieldsOf } from '../../database/rows.ts';
import { readNodeEvents, readNodeHistory } from '../../nodes/read-node-history.ts';
import { type Axis, axisOver, stepMs } from '../../usage/read-usage.ts';
import { invalidField, notFound } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import { defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { toAxisJson } from './usage-range.ts';

/** The longest range by minute, and the longest range allowed. */
const MINUTES_MAX_MS = 6 * stepMs.hour;
const RANGE_MAX_MS = 90 * stepMs.day;
/** Minutes are stored for two days. */
const MINUTES_AGE_MAX_MS = 2 * stepMs.day;

type Range = ParsedRouteInput<'GET /upstreams/{node}/history'>['query'];

function axisOf({ from, to }: Range, nowMs: number): Axis {
  const toMs = to ?? nowMs + 1;
  const fromMs = from ?? toMs - stepMs.hour;
  if (fromMs >= toMs) throw invalidField('from', 'must be before "to"');
  if (toMs - fromMs > RANGE_MAX_MS)
    throw invalidField('from', 'is more than 90 days before "to". Request a shorter range');
  const isShort = toMs - fromMs <= MINUTES_MAX_MS && nowMs - fromMs < MINUTES_AGE_MAX_MS;
  return axisOver(isShort ? 'minute' : 'hour', fromMs, toMs);
}

export const nodeHistoryHandlers = ({ store, now }: ApiServices) =>
  defineHandlers({
    async 'GET /upstreams/{node}/history'({ path: { node }, query }) {
      const axis = axisOf(query, now());
      const history = await readNodeHistory(store, node, axis);
      const { from, to } = toAxisJson(axis);
      const events = await readNodeEvents(store, node, from, to);
      if (history.network === null && events.length === 0)
        throw notFound(`Node ${node} does not exist, or has no history in this time range.`);
      return {
        axis: toAxisJson(axis),
        ...history,
        events: events.map((row) => fieldsOf(row, 'id', 'at', 'gateway', 'kind', 'detail')),
      };
    },
  });
