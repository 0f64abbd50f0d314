import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetMinimumBalanceForRentExemptionResult,
  parseGetMinimumBalanceForRentExemption,
} from '../../../../src/protocol/rpc/getMinimumBalanceForRentExemption.ts';
import { rentExemptMinimum } from '../bank/sysvar-accounts.ts';
import type { LocalNode } from '../node.ts';

export const getMinimumBalanceForRentExemption = (
  _node: LocalNode,
  params: JsonValue | undefined,
): GetMinimumBalanceForRentExemptionResult =>
  rentExemptMinimum(parseGetMinimumBalanceForRentExemption(params).dataLength);
