"""Pictures of campaigns and systems for those who post links to them: what stands on one, and how it is drawn."""
