/** What each folder of src/ and the package localnet may import: the layers table of ARCHITECTURE.md. */
export const mayImport: Record<string, readonly string[]> = {
  base: [],
  solana: ['base'],
  http: ['base'],
  protocol: ['base', 'solana'],
  streams: ['base', 'solana', 'protocol'],
  upstream: ['base', 'solana', 'protocol', 'streams', 'http'],
  localnet: ['base', 'solana', 'protocol', 'streams'],
  decoding: ['base', 'solana', 'protocol'],
  servers: ['base', 'solana', 'protocol', 'streams', 'http'],
  gateway: ['base', 'solana', 'protocol', 'streams', 'upstream'],
  'rest-api': ['base', 'solana', 'protocol', 'decoding'],
  control: ['base', 'solana', 'protocol', 'gateway'],
};
mayImport.config = Object.keys(mayImport);
mayImport.app = Object.keys(mayImport);
mayImport.cli = ['base', 'config', 'app'];
