import { type ContractName, routeOf } from '../../src/control/api/contract/contract.ts';
import type { Handlers } from '../../src/control/api/handler.ts';

export const withValidatedOutput = (handlers: Handlers): Handlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      async (...given: Parameters<typeof handler>) => {
        const output = await (handler as (...all: unknown[]) => Promise<unknown>)(...given);
        validateOutput(name as ContractName, output);
        return output;
      },
    ]),
  ) as unknown as Handlers;

function validateOutput(name: ContractName, output: unknown): void {
  const { result } = routeOf(name);
  if (result === undefined) return;
  const parsed = result.safeParse(output);
  if (!parsed.success)
    throw new Error(`the response of ${name} violates the contract: ${parsed.error.message}`);
  const unknown = unknownMember(output, parsed.data, '');
  if (unknown !== null)
    throw new Error(`the response of ${name} contains ${unknown}, which is not in the contract`);
}

/** Path of the first member that the schema does not declare, or null. */
function unknownMember(value: unknown, parsedValue: unknown, at: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const path = at === '' ? name : `${at}.${name}`;
    if (typeof parsedValue !== 'object' || parsedValue === null || !Object.hasOwn(parsedValue, name))
      return path;
    const deeper = unknownMember(member, Reflect.get(parsedValue, name), path);
    if (deeper !== null) return deeper;
  }
  return null;
}
