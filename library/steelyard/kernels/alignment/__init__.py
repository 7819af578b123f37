"""Words linked with words: Meteor's modules, GTM's runs, tBLEU's affixes, shared words."""
