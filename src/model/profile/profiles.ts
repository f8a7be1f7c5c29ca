import { AppError } from "../../core/error.ts";
import { GLM, Hermes, Pythonic, Qwen_XML } from "./family-profiles.ts";
import type { Profile } from "./profile.ts";
import { JSON_Strict, XML_Tag } from "./seed-profiles.ts";

/** The profiles that come with Handback, by name. */
export const PROFILES: ReadonlyMap<string, Profile> = new Map(
  [JSON_Strict, XML_Tag, Hermes, Qwen_XML, GLM, { ...GLM, name: "Ling" }, Pythonic].map((profile) => [profile.name, profile]),
);

export type ProfileName = "JSON_Strict" | "XML_Tag" | "Hermes" | "Qwen_XML" | "GLM" | "Ling" | "Pythonic";

/** A profile by name, or as it is. */
export function toProfile(profile: Profile | ProfileName): Profile {
  return typeof profile === "string" ? profileNamed(profile) : profile;
}

/** A profile that comes with Handback. Refuses other names. */
export function profileNamed(name: string): Profile {
  const profile = PROFILES.get(name);
  if (!profile)
    throw new AppError("invalid", `There is no profile ${name}; there are ${[...PROFILES.keys()].join(", ")}`, { field: "profile" });
  return profile;
}
