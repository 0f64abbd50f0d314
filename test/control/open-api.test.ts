import { describe, expect, it } from 'vitest';
import { contract } from '../../src/control/api/contract/contract.ts';
import { openApiDocument } from '../../src/control/api/server/open-api.ts';

type Schema = Readonly<{ type?: string; additionalProperties?: unknown; properties?: Record<string, Any> }>;
// biome-ignore lint/suspicious/noExplicitAny: a document as its readers find it
type Any = any;

const { paths } = openApiDocument() as Any;

const bodies = (): [string, Schema][] =>
  Object.keys(contract).flatMap((name) => {
    const [verb = '', path = ''] = name.split(' ');
    const { requestBody } = paths[path][verb.toLowerCase()];
    return requestBody === undefined ? [] : [[name, requestBody.content['application/json'].schema]];
  });

describe('the OpenAPI document', () => {
  it('rejects unknown fields in every body', () => {
    const objects = bodies().filter(([, { type }]) => type === 'object');
    expect(objects.length).toBeGreaterThan(20);
    expect(objects.filter(([, schema]) => schema.additionalProperties !== false)).toEqual([]);
  });
});
