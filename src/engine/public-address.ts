import { BlockList, isIP } from "node:net";

/** Whether an address belongs to the public internet: not this machine, this network, or a way around either. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !PRIVATE.check(address, "ipv4");
  if (family === 6) return GLOBAL.check(address, "ipv6") && !PRIVATE.check(address, "ipv6");
  return false;
}

/** What is given out of IPv6; IPv4 in disguise (mapped, translated) lies elsewhere. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet("2000::", 3, "ipv6");

const PRIVATE = new BlockList();
const V4: [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // also where clouds keep their credentials
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
const V6: [string, number][] = [
  ["2001::", 23], // Teredo, benchmarking and other protocols' own
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4 holds an IPv4 address
  ["3fff::", 20],
];
for (const [net, prefix] of V4) PRIVATE.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of V6) PRIVATE.addSubnet(net, prefix, "ipv6");
