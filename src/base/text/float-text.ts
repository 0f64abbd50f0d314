/** Text of a finite f64 as serde_json writes it: shortest digits, always with a point or an exponent. */
export function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [, digits = '', power = '0'] = /^([-\d.]+)e([+-]\d+)$/.exec(value.toExponential()) ?? [];
  const exponent = Number(power);
  if (exponent >= 16 || exponent < -5) return `${digits}e${exponent}`;
  const count = digits.replace(/[-.]/g, '').length;
  return value.toFixed(Math.max(1, count - 1 - exponent));
}
