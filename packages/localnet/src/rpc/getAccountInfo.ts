import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { parseGetAccountInfo } from '../../../../src/protocol/rpc/getAccountInfo.ts';
import type { LocalNode } from '../node.ts';
import { accountJson, viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';

export function getAccountInfo(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { address, config } = parseGetAccountInfo(params);
  const bank = bankFor(node, config);
  const account = bank.account(address);
  return withContext(bank, account && accountJson(address, account, viewOf(bank, config, 'binary')));
}
