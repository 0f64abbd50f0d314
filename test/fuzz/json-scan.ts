import { isUtf8 } from 'node:buffer';
import { isJson } from '../../src/base/json-scan.ts';

export const from = 'clients and nodes';
export const covers = ['base/json-scan.ts'];

const DEPTH = 200;

export const seeds = [
  '{"a":[1,-0.5e+3,true,false,null,"\\u0041\\n"],"é":{}}',
  ' [ ] ',
  '"\\ud83d\\ude00"',
].map((text) => Buffer.from(text));

/** Whether brackets of any kind are opened deeper than the scanner goes; more than it need be, but safe. */
function mayBeTooDeep(bytes: Uint8Array): boolean {
  let opened = 0;
  for (const byte of bytes) if (byte === 0x5b || byte === 0x7b) opened++;
  return opened > DEPTH;
}

/** Accepts what JSON.parse accepts, refuses what it refuses. */
export function fuzz(bytes: Uint8Array): boolean {
  const accepted = isJson(bytes, DEPTH);
  if (!isUtf8(bytes) || mayBeTooDeep(bytes)) return accepted;
  const text = Buffer.from(bytes).toString();
  let valid = true;
  try {
    JSON.parse(text);
  } catch {
    valid = false;
  }
  if (accepted !== valid)
    throw new Error(`scanner says ${accepted}, JSON.parse ${valid}: ${JSON.stringify(text)}`);
  return accepted;
}
