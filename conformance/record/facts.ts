import { encodeBase58 } from '../../src/solana/base58.ts';
import { actorAddresses, key } from './actors.ts';
import type { Facts } from './cases/recorded-case.ts';
import type { ScriptRun } from './run-script.ts';
import { signUnsent, unsentNames } from './unsent.ts';

const UNKNOWN_SIGNATURE = '1'.repeat(64);
const UNKNOWN_SLOT = 900_000_001;

/**
 * Facts of a ledger that the script ran on.
 * @param blockhash - a finalized one, for transactions not sent yet.
 */
export function factsOf(run: ScriptRun, blockhash: string): Facts {
  const { names, landed } = run;
  names.add('blockhash', 'unsent', blockhash);
  const signed = new Map(unsentNames.map((name) => [name, signUnsent(name, blockhash)] as const));
  for (const [name, { wire, signature: own }] of signed) {
    // Version 1 has its signatures at the end.
    const signature = wire[0] === 0x81 ? own : encodeBase58(wire.subarray(1, 65));
    if (!signature.startsWith('1111')) names.add('signature', `unsent ${name}`, signature);
  }
  const actors = actorAddresses();
  for (const [name, address] of actors) names.add('actor', name, address);
  const encode = (wire: Uint8Array, encoding: string): string =>
    encoding === 'base58' ? encodeBase58(wire) : Buffer.from(wire).toString('base64');
  return {
    address: (name) => names.addressOf(name) ?? actors.get(name) ?? key(name).toBase58(),
    signature: (step) => landed.get(step)?.signature ?? UNKNOWN_SIGNATURE,
    blockhash: (step) => (step === 'unsent' ? blockhash : (landed.get(step)?.blockhash ?? blockhash)),
    slot: (step, plus = 0) => (landed.get(step)?.slot ?? UNKNOWN_SLOT) + plus,
    wire: (step, encoding = 'base64') =>
      encode(Buffer.from(landed.get(step)?.transaction ?? '', 'base64'), encoding),
    unsent: (name, encoding = 'base64') => encode(signed.get(name)?.wire ?? new Uint8Array(), encoding),
    message: (name) => Buffer.from(signed.get(name)?.message ?? []).toString('base64'),
  };
}

/** Names in place of values, to show a request. */
export const shownFacts: Facts = {
  address: (name) => `<${name}>`,
  signature: (step) => `<signature:${step}>`,
  blockhash: (step) => `<blockhash:${step}>`,
  slot: (step, plus = 0) => `<slot:${step}${plus === 0 ? '' : `+${plus}`}>`,
  wire: (step, encoding = 'base64') => `<transaction:${step} ${encoding}>`,
  unsent: (name, encoding = 'base64') => `<unsent:${name} ${encoding}>`,
  message: (name) => `<message:${name}>`,
};
