import { createHash } from 'node:crypto';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { type Address, address, addressBytes } from '../../src/solana/address.ts';
import { encodeParsedInstruction } from '../../src/solana/encoding/ui-instruction.ts';
import { mintTokenAmount } from '../../src/solana/encoding/ui-token-amount.ts';
import { parseAccountData } from '../../src/solana/parsed/parse-account.ts';
import { parseInstruction } from '../../src/solana/parsed/parse-instruction.ts';
import { programs, sysvarOwner, sysvars } from '../../src/solana/programs.ts';
import { decodeMintScale } from '../../src/solana/token/extensions.ts';
import { lamports } from '../../src/solana/units.ts';
import { seeds as accounts } from './account-state.ts';

export const from = "transactions and programs' accounts, through nodes";
export const covers = ['solana/parsed/', 'solana/token/extensions.ts'];

const keys = [...Object.values(programs), ...Object.values(sysvars)];
const validatorInfo = address('Va1idator1nfo111111111111111111111111111111');
const someone = address('Stake11111111111111111111111111111111111111');
const owners = [...Object.values(programs), sysvarOwner];

const onThree = (programId: Address, ...data: number[]): Uint8Array =>
  Uint8Array.of(3, keys.indexOf(programId), 1, 2, 3, ...data);

/** What begins an instruction of an interface. */
const markOf = (name: string): Uint8Array => createHash('sha256').update(name).digest().subarray(0, 8);

/** A mint with one extension, all zeros. */
function mintWith(type: number, length: number): Uint8Array {
  const mint = new Uint8Array(170 + length);
  mint.set([1], 45);
  mint.set([1, type, 0, length], 165);
  return mint;
}

/** Accounts of each kind, and instructions of the programs whose data has a form of its own. */
export const seeds: readonly Uint8Array[] = [
  ...accounts,
  onThree(programs.system, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0),
  onThree(programs.token, 12, 9, 0, 0, 0, 0, 0, 0, 0, 6),
  onThree(programs.token2022, 255, 3, 9, 3, 5, 0, 0, 0, 0, 0, 0, 0),
  onThree(programs.token2022, 27, 7, ...new Uint8Array(167)),
  onThree(programs.token2022, 37, 2, 1, 0, ...new Uint8Array(36)),
  onThree(programs.token2022, 42, 1, ...new Uint8Array(33)),
  onThree(programs.token2022, 46, 3, ...new Uint8Array(167)),
  onThree(programs.token2022, 33, 0, ...new Uint8Array(34)),
  onThree(programs.token2022, 33, 1, 5, 0),
  onThree(programs.token, 6, 2, 0),
  onThree(programs.token2022, 21, 3, 0, 9, 0),
  ...['metadata_interface:initialize_account', 'group_interface:initialize_token_group'].map((name) =>
    onThree(programs.token2022, ...markOf(`spl_token_${name}`), ...new Uint8Array(40)),
  ),
  onThree(programs.bpfLoader2, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 8, 9),
  onThree(programs.vote, 8, 0, 0, 0, ...new Uint8Array(60)),
  Uint8Array.of(1, ...addressBytes(validatorInfo), 0, 9, ...new Uint8Array(7), ...Buffer.from('{"a":[1]}')),
  mintWith(1, 108),
  mintWith(4, 65),
  mintWith(10, 52),
  mintWith(16, 129),
  mintWith(19, 80),
  mintWith(24, 196),
  mintWith(25, 56),
  onThree(programs.vote, 1, 0, 0, 0, ...new Uint8Array(32), 2, 0, 0, 0, ...new Uint8Array(144)),
  onThree(programs.vote, 16, 0, 0, 0, ...new Uint8Array(244)),
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
  const scale = decodeMintScale(data) ?? { decimals: data[0] ?? 0 };
  const lookup = { mint: () => scale, unixTimestamp: BigInt(data.length) << 20n };
  if (scale.interestBearing ?? scale.scaledUiAmount) {
    mustBeJson(parseJson(writeJson(mintTokenAmount(2n ** 64n - 1n, scale, lookup.unixTimestamp))));
  }
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
