import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { isMembers, type Members } from '../../solana/parsed/wire-order.ts';
import { addressOf } from '../lenient-json.ts';
import type { TokenName } from '../token/find-names.ts';
import type { Action } from './action.ts';

const awaitsNames = (members: Members): boolean =>
  members.symbol === '' && members.image_uri === '' && addressOf(members.token_address) !== null;

const namedTypes: ReadonlySet<string> = new Set([
  ...['SWAP', 'ADD_LIQUIDITY', 'REMOVE_LIQUIDITY', 'COLLECT_FEES', 'COLLECT_REWARD'],
]);

export function mintsToName(actions: readonly Action[]): Set<Address> {
  const mints = new Set<Address>();
  const collect = (value: WritableJson): void => {
    if (Array.isArray(value)) for (const item of value) collect(item);
    else if (isMembers(value)) {
      const mint = awaitsNames(value) ? addressOf(value.token_address) : null;
      if (mint !== null) mints.add(mint);
      else for (const member of Object.values(value)) collect(member);
    }
  };
  for (const { type, info } of actions) if (namedTypes.has(type)) collect(info);
  return mints;
}

const symbolOf = (side: WritableJson): string =>
  isMembers(side) && typeof side.symbol === 'string' ? side.symbol : '';

function poolName(members: Members): string {
  const symbols = [symbolOf(members.in), symbolOf(members.out)];
  return symbols.includes('') ? '' : symbols.join('-');
}

function named(value: WritableJson, names: ReadonlyMap<Address, TokenName>): WritableJson {
  if (Array.isArray(value)) return value.map((item) => named(item, names));
  if (!isMembers(value)) return value;
  const label = awaitsNames(value) ? names.get(value.token_address as Address) : undefined;
  if (label !== undefined) {
    return { ...value, name: label.name, symbol: label.symbol, image_uri: label.image };
  }
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, named(member, names)]),
  );
  return 'liquidity_pool_address' in members && members.name === ''
    ? { ...members, name: poolName(members) }
    : members;
}

export const nameTokens = (actions: readonly Action[], names: ReadonlyMap<Address, TokenName>): Action[] =>
  actions.map((action) =>
    namedTypes.has(action.type) ? { ...action, info: named(action.info, names) as Action['info'] } : action,
  );
