import { Float64, RawJson, type WritableJson } from '../../base/json.ts';

/** The named members of one JSON object. */
export type Members = { readonly [name: string]: WritableJson };

function isMembers(value: WritableJson): value is Members {
  return (
    typeof value === 'object' && value !== null && !(value instanceof Float64 || value instanceof RawJson)
  );
}

/**
 * The same value with the members of every object sorted by name. Nodes keep results in sorted maps
 * (serde_json without `preserve_order`), so this is the order that clients see.
 */
export function inWireOrder(value: WritableJson): WritableJson {
  if (Array.isArray(value)) return value.map(inWireOrder);
  if (!isMembers(value)) return value;
  const ordered: Record<string, WritableJson> = {};
  for (const name of Object.keys(value).sort()) ordered[name] = inWireOrder(value[name]);
  return ordered;
}
