import type { JsonValue } from '../../base/json.ts';
import {
  type GetMinimumBalanceForRentExemptionResult,
  parseGetMinimumBalanceForRentExemption,
} from '../../protocol/rpc/getMinimumBalanceForRentExemption.ts';
import { rentExemptMinimum } from '../bank/sysvar-accounts.ts';
import type { LocalNode } from '../node.ts';

export const getMinimumBalanceForRentExemption = (
  _node: LocalNode,
  params: JsonValue | undefined,
): GetMinimumBalanceForRentExemptionResult =>
  rentExemptMinimum(parseGetMinimumBalanceForRentExemption(params).dataLength);
