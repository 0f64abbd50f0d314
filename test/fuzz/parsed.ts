import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { type Address, address } from '../../src/ledger/address.ts';
import { encodeParsedInstruction } from '../../src/ledger/encoding/ui-instruction.ts';
import { parseAccountData } from '../../src/ledger/parsed/parse-account.ts';
import { parseInstruction } from '../../src/ledger/parsed/parse-instruction.ts';
import { programs, sysvarOwner, sysvars } from '../../src/ledger/programs.ts';
import { lamports } from '../../src/ledger/units.ts';
import { seeds as accounts } from './account-state.ts';

const keys = [...Object.values(programs), ...Object.values(sysvars)];
const someone = address('Stake11111111111111111111111111111111111111');
const owners = [...Object.values(programs), sysvarOwner];

const onThree = (programId: Address, ...data: number[]): Uint8Array =>
  Uint8Array.of(3, keys.indexOf(programId), 1, 2, 3, ...data);

/** Accounts of each kind, and instructions of the programs whose data has a form of its own. */
export const seeds: readonly Uint8Array[] = [
  ...accounts,
  onThree(programs.system, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0),
  onThree(programs.token, 12, 9, 0, 0, 0, 0, 0, 0, 0, 6),
  onThree(programs.token2022, 255, 3, 9, 3, 5, 0, 0, 0, 0, 0, 0, 0),
  onThree(programs.vote, 14, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 3, 1, ...new Uint8Array(65)),
  onThree(programs.stake, 6, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0),
  onThree(programs.addressLookupTable, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, ...new Uint8Array(32)),
];

function mustBeJson(value: JsonValue | undefined): void {
  if (value === undefined) throw new Error('no JSON');
}

/** The first byte says how many of the next are account indexes, the second names the program; the rest is data. */
function fuzzInstruction(input: Uint8Array): boolean {
  const count = (input[0] ?? 0) % 12;
  const programIdIndex = (input[1] ?? 0) % keys.length;
  const programId = keys[programIdIndex] ?? someone;
  const instruction = {
    programIdIndex,
    accounts: input.subarray(2, 2 + count),
    data: input.subarray(2 + count),
  };
  mustBeJson(parseJson(writeJson(encodeParsedInstruction(instruction, keys, 1))));
  return parseInstruction(programId, instruction, keys) !== null;
}

function fuzzAccount(data: Uint8Array): boolean {
  const lookup = { mint: () => ({ decimals: data[0] ?? 0 }) };
  let parsed = false;
  for (const owner of owners) {
    const account = { lamports: lamports(1), data, owner, executable: false, rentEpoch: 0n };
    const addresses = owner === sysvarOwner ? Object.values(sysvars) : [someone];
    for (const at of addresses) {
      const shown = parseAccountData(at, account, lookup);
      if (shown === null) continue;
      parsed = true;
      mustBeJson(parseJson(writeJson(shown)));
    }
  }
  return parsed;
}

/** Whatever the bytes, an instruction and an account are shown as valid JSON or not parsed. */
export function fuzz(input: Uint8Array): boolean {
  const instruction = fuzzInstruction(input);
  return fuzzAccount(input) || instruction;
}
