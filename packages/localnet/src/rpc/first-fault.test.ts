import { expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/base/json.ts';
import { parseSendTransaction } from '../../../../src/protocol/rpc/sendTransaction.ts';
import { parseGetAccountInfo } from './getAccountInfo.ts';
import { parseGetBlockProduction } from './getBlockProduction.ts';
import { parseGetLargestAccounts } from './getLargestAccounts.ts';
import { parseGetProgramAccounts } from './getProgramAccounts.ts';
import { parseGetSignaturesForAddress } from './getSignaturesForAddress.ts';
import { parseGetVoteAccounts } from './getVoteAccounts.ts';
import { parseSimulateTransaction } from './simulateTransaction.ts';

type Parse = (params: JsonValue | undefined) => unknown;

/** serde_json keeps an object's members by name, and serde stops at the first that is wrong. */
it.each<[string, Parse, JsonValue[], string[]]>([
  ['getAccountInfo', parseGetAccountInfo, ['x'], ['dataSlice', 'encoding', 'minContextSlot']],
  // What belongs to the flattened part is looked at last.
  [
    'getProgramAccounts',
    parseGetProgramAccounts,
    ['x'],
    ['filters', 'sortResults', 'withContext', 'dataSlice', 'encoding', 'minContextSlot'],
  ],
  ['getBlockProduction', parseGetBlockProduction, [], ['identity', 'range']],
  ['getLargestAccounts', parseGetLargestAccounts, [], ['filter', 'sortResults']],
  [
    'getSignaturesForAddress',
    parseGetSignaturesForAddress,
    ['x'],
    ['before', 'limit', 'minContextSlot', 'until'],
  ],
  [
    'getVoteAccounts',
    parseGetVoteAccounts,
    [],
    ['delinquentSlotDistance', 'keepUnstakedDelinquents', 'votePubkey'],
  ],
  [
    'sendTransaction',
    parseSendTransaction,
    ['x'],
    ['encoding', 'maxRetries', 'minContextSlot', 'preflightCommitment', 'skipPreflight'],
  ],
  [
    'simulateTransaction',
    parseSimulateTransaction,
    ['x'],
    ['accounts', 'encoding', 'innerInstructions', 'minContextSlot', 'replaceRecentBlockhash', 'sigVerify'],
  ],
])('%s names the first member that is wrong, by the order of the names', (_method, parse, lead, names) => {
  for (const first of names.keys()) {
    const wrong = names.slice(first);
    // Each is wrong in a way of its own, so that the text says which one was met.
    const values = wrong.map((name): [string, JsonValue] => [name, -1 - names.indexOf(name)]);
    const config = Object.fromEntries(values.toReversed());
    const alone = Object.fromEntries(values.slice(0, 1));
    const refusal = (given: JsonValue): string => {
      try {
        parse([...lead, given]);
      } catch (error) {
        return (error as Error).message;
      }
      return 'taken';
    };
    expect(refusal(alone)).toContain(String(values[0]?.[1]));
    expect(refusal(config)).toBe(refusal(alone));
  }
});
