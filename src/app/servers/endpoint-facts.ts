import { z } from 'zod';
import type { EndpointInfo } from '../../control/api/services.ts';
import type { Endpoint } from '../../rest-api/endpoint.ts';
import { endpoints } from '../../rest-api/registry.ts';

const samples: Readonly<Record<string, unknown>> = {
  network: 'mainnet-beta',
  wallet: '11111111111111111111111111111111',
  account: '11111111111111111111111111111111',
  address: '11111111111111111111111111111111',
  wallet_address: '11111111111111111111111111111111',
  token: 'So11111111111111111111111111111111111111112',
  token_address: 'So11111111111111111111111111111111111111112',
};

type Shape = { properties?: Record<string, unknown>; required?: string[] };

function exampleOf({ fields, from }: Endpoint): string {
  const { properties = {}, required = [] } = z.toJSONSchema(fields, {
    io: 'input',
    unrepresentable: 'any',
  }) as Shape;
  const fieldNames = Object.keys(properties).filter((name) => required.includes(name) || name === 'network');
  const values = Object.fromEntries(fieldNames.map((name) => [name, samples[name] ?? '']));
  if (from === 'body') return JSON.stringify(values);
  return new URLSearchParams(values as Record<string, string>).toString();
}

/** REST endpoints for the playground. `credits` is the minimum: a request costs the credits of all its calls. */
export const endpointFacts: readonly EndpointInfo[] = endpoints.map((endpoint) => ({
  name: endpoint.name,
  path: endpoint.paths[0],
  credits: 1,
  example: `${endpoint.verb} ${exampleOf(endpoint)}`.trim(),
}));
