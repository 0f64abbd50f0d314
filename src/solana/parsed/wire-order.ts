import { Float64, RawJson, type WritableJson } from '../../base/json.ts';

export type Members = { readonly [name: string]: WritableJson };

export function isMembers(value: WritableJson): value is Members {
  return (
    typeof value === 'object' && value !== null && !(value instanceof Float64 || value instanceof RawJson)
  );
}

/** Sorts members like serde_json without `preserve_order`. */
export function inWireOrder(value: WritableJson): WritableJson {
  if (Array.isArray(value)) return value.map(inWireOrder);
  if (!isMembers(value)) return value;
  const ordered: Record<string, WritableJson> = {};
  for (const name of Object.keys(value).sort()) ordered[name] = inWireOrder(value[name]);
  return ordered;
}
