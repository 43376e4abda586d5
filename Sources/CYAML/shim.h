// libyaml (Debian: libyaml-dev, Homebrew: libyaml).
#include <yaml.h>
