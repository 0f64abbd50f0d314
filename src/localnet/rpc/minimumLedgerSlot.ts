import type { JsonValue } from '../../base/json.ts';
import {
  type MinimumLedgerSlotResult,
  parseMinimumLedgerSlot,
} from '../../protocol/rpc/minimumLedgerSlot.ts';
import type { LocalNode } from '../node.ts';

export function minimumLedgerSlot(node: LocalNode, params: JsonValue | undefined): MinimumLedgerSlotResult {
  parseMinimumLedgerSlot(params);
  return node.history.firstAvailableSlot;
}
