import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type MinimumLedgerSlotResult,
  parseMinimumLedgerSlot,
} from '../../../../src/protocol/rpc/minimumLedgerSlot.ts';
import type { LocalNode } from '../node.ts';

export function minimumLedgerSlot(node: LocalNode, params: JsonValue | undefined): MinimumLedgerSlotResult {
  parseMinimumLedgerSlot(params);
  return node.history.firstAvailableSlot;
}
