import { type JsonValue, RawJson } from '../../../../src/base/json.ts';
import {
  type GetLeaderScheduleResult,
  parseGetLeaderSchedule,
} from '../../../../src/protocol/rpc/getLeaderSchedule.ts';
import type { LocalNode } from '../node.ts';
import { epochPosition, hasSchedule } from './leader-schedule.ts';

/** Cached text: 432,000 positions take 3 MB and never change. */
const written = new WeakMap<LocalNode, RawJson>();

function allPositions(node: LocalNode): RawJson {
  const before = written.get(node);
  if (before !== undefined) return before;
  const slots = Number(node.genesis.epochSchedule.slotsPerEpoch);
  const json = new RawJson(`[${Array.from({ length: slots }, (_, i) => i).join(',')}]`);
  written.set(node, json);
  return json;
}

/** The node leads all slots; null for an unknown epoch. */
export function getLeaderSchedule(node: LocalNode, params: JsonValue | undefined): GetLeaderScheduleResult {
  const wanted = parseGetLeaderSchedule(params);
  const bank = node.bank(wanted.commitment);
  const { identity, epochSchedule } = node.genesis;
  const { epoch } = epochPosition(epochSchedule, wanted.slot ?? bank.slot);
  if (!hasSchedule(node, epoch)) return null;
  if (wanted.identity !== null && wanted.identity !== identity) return {};
  return { [identity]: allPositions(node) };
}
