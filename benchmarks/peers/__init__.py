"""What users run beside Steelyard: libraries, sacreBLEU, and programs of their own."""
